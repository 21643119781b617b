// Looks at files and folders, and steps on them, for plans and their journal. An error is never taken for absence; each
// is InvalidArgument with the path and the system's cause.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/status.h"

namespace opkit::scaffold {

Status fileError(const char* what, const std::filesystem::path& path, const std::error_code& error);
/// The same with the cause in errno.
Status fileError(const char* what, const std::filesystem::path& path);

enum class Links { Kept, Followed };
/// `not_found` if there is nothing.
Result<std::filesystem::file_type> typeOf(const std::filesystem::path& path, Links links = Links::Kept);
/// Links are not followed.
Result<bool> isThere(const std::filesystem::path& path);

/// Makes a folder and those that it lies in, unless they are there; std::filesystem::create_directories takes a parent
/// that it cannot look at for one that is there.
Status makeFolder(const std::filesystem::path& folder);
/// Deletes a file or a link, if there is one.
Status removeFile(const std::filesystem::path& path);
/// Deletes a folder and what is in it. std::filesystem::remove_all ends the program if memory is refused.
Status removeAll(const std::filesystem::path& path);
/// Unlike std::filesystem::remove it deletes neither a file nor a link that somebody put there. True if the folder is
/// gone. Allocates nothing.
bool removeIfEmpty(const std::filesystem::path& folder);
Status moveFile(const std::filesystem::path& from, const std::filesystem::path& to);
/// The same file or link under a second name, with its mode; a copy where the file system knows no hard links.
Status keepFile(const std::filesystem::path& file, const std::filesystem::path& copy);

}  // namespace opkit::scaffold
