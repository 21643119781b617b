// Whose code asks: tells OpKit's requests from those of the libraries in the process.
#pragma once

#include <cstddef>

namespace opkit::harness {

/// Learns where the program and the standard library lie. Before the first isOurs.
void findCallers();

/// Whether the first caller outside the standard library and fmt, from the return address `caller` on, is code of this
/// program. Allocates nothing.
bool isOurs(const void* caller);

/// The return addresses of this call in the program, as offsets in its file; returns their number.
size_t placesInProgram(size_t* offsets, size_t most);

}  // namespace opkit::harness
