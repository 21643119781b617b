// Case folders: an exported case as a folder in the form of ONNX's backend tests, with bound.json.
//
//   NAME/model.onnx, NAME/bound.json, NAME/test_data_set_K/{input_I,output_I,hidden_I,bound_I}.pb
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/export/bound_file.h"
#include "harness/export/exported_case.h"

namespace opkit::harness {

/// "Softmax-f32-8x1024-normal-3f2a91bc": operator, the first input, lane, and a hash of the id. Below 100 characters.
std::string folderName(const Case& c);

/// InvalidArgument names two cases with other ids that have one folder name.
Status checkFolderNames(const std::vector<CaseGroup>& groups);

/// The output in the precision of the file, rounded once.
Result<Tensor> roundedOutput(const OracleTensor& expected);

/// The bounds of the elements about the rounded values: of a bound b about the exact value y, b + |rounded(y) - y|.
/// A bound of 0 means the rounded value itself, and stays; values that are no finite numbers have it too. Empty: all
/// are 0.
std::vector<double> boundsOfRounded(const OracleTensor& expected, const Tolerance& tolerance);

/// The content of the bound.json of a model.
BoundFile boundFileOf(const ExportedModel& model);

/// Writes the folder PARENT/NAME whole or not at all: into PARENT/.NAME.part first, which is removed if a killed run
/// left it. Returns the number of bytes. Errors name the path and the cause.
Result<size_t> writeCaseFolder(const std::string& parent, const std::string& name, const ExportedModel& model);

/// The same in place of an older folder, if there is one. InvalidArgument if something else than a folder with a
/// bound.json is in the way, which stays as it was.
Result<size_t> replaceCaseFolder(const std::string& parent, const std::string& name, const ExportedModel& model);
/// Removes the folder PARENT/NAME if it holds a bound.json; leaves everything else.
Status removeCaseFolder(const std::string& parent, const std::string& name);

/// Whether this is the folder of a run that was killed or still writes.
bool isPartFolder(const std::filesystem::directory_entry& entry);
/// Removes what killed runs left in PARENT; with a name, of this folder.
void removePartFolders(const std::string& parent);
void removePartsOf(const std::string& parent, const std::string& name);
/// Whether PARENT holds anything else, or is no folder that can be read.
bool holdsOtherThanParts(const std::string& parent);

}  // namespace opkit::harness
