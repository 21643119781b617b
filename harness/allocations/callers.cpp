#include "harness/allocations/callers.h"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace opkit::harness {
namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

Range program;
uintptr_t programBase = 0;
std::vector<Range> exported;   // functions of the program that libraries call, by address
std::array<Range, 4> between;  // libraries that allocate for their callers

Range codeOf(const dl_phdr_info& object) {
  Range range{UINTPTR_MAX, 0};
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    const auto& part = object.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    range.begin = std::min<uintptr_t>(range.begin, object.dlpi_addr + part.p_vaddr);
    range.end = std::max<uintptr_t>(range.end, object.dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  return range;
}

/// One more than the last index of a defined symbol, from the table by which the linker finds them.
uint32_t symbolCount(const uint32_t* hashTable) {
  const uint32_t buckets = hashTable[0], firstSymbol = hashTable[1], bloomWords = hashTable[2];
  const uint32_t* const bucket = hashTable + 4 + bloomWords * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* const chain = bucket + buckets;
  uint32_t last = *std::max_element(bucket, bucket + buckets);
  if (last < firstSymbol) return firstSymbol;
  while (!(chain[last - firstSymbol] & 1)) ++last;
  return last + 1;
}

/// The standard library's templates are compiled into the program and exported: drivers call those.
void findExported(const dl_phdr_info& object) {
  const ElfW(Sym)* symbols = nullptr;
  const uint32_t* hashTable = nullptr;
  const auto at = [&](ElfW(Addr) address) { return address < object.dlpi_addr ? address + object.dlpi_addr : address; };
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr));
      if (entry->d_tag == DT_GNU_HASH) hashTable = reinterpret_cast<const uint32_t*>(at(entry->d_un.d_ptr));
    }
  }
  if (!symbols || !hashTable) return;
  for (const auto* symbol = symbols + hashTable[1]; symbol < symbols + symbolCount(hashTable); ++symbol)
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
      exported.push_back({object.dlpi_addr + symbol->st_value, object.dlpi_addr + symbol->st_value + symbol->st_size});
  std::ranges::sort(exported, {}, &Range::begin);
}

bool isExported(uintptr_t address) {
  const auto next = std::ranges::upper_bound(exported, address, {}, &Range::begin);
  return next != exported.begin() && std::prev(next)->holds(address);
}

int remember(dl_phdr_info* object, size_t, void* first) {
  if (std::exchange(*static_cast<bool*>(first), false) && exported.empty()) {  // the program is the first object
    program = codeOf(*object);
    programBase = object->dlpi_addr;
    findExported(*object);
  }
  size_t next = 0;
  for (const char* name : {"libstdc++", "libfmt", "libflatbuffers"}) {
    if (std::strstr(object->dlpi_name, name)) between[next] = codeOf(*object);
    ++next;
  }
  return 0;
}

/// Whether its caller decides.
bool isBetween(uintptr_t address) {
  if (program.holds(address)) return isExported(address);
  for (const Range& range : between)
    if (range.holds(address)) return true;
  return false;
}

struct Search {
  uintptr_t caller;
  bool reached = false;
  bool ours = false;
};

_Unwind_Reason_Code lookAt(_Unwind_Context* frame, void* data) {
  auto& search = *static_cast<Search*>(data);
  const uintptr_t address = _Unwind_GetIP(frame);
  search.reached = search.reached || address == search.caller;
  if (!search.reached || isBetween(address)) return _URC_NO_REASON;
  search.ours = program.holds(address);
  return _URC_END_OF_STACK;
}

struct Places {
  size_t* offsets;
  size_t most, count;
};

_Unwind_Reason_Code note(_Unwind_Context* frame, void* data) {
  auto& places = *static_cast<Places*>(data);
  const uintptr_t address = _Unwind_GetIP(frame);
  if (program.holds(address)) places.offsets[places.count++] = address - programBase;
  return places.count < places.most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

void findCallers() {
  bool first = true;
  dl_iterate_phdr(remember, &first);
}

bool isOurs(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (!isBetween(address)) return program.holds(address);
  Search search{address};
  _Unwind_Backtrace(lookAt, &search);
  return search.ours;
}

size_t placesInProgram(size_t* offsets, size_t most) {
  Places places{offsets, most, 0};
  _Unwind_Backtrace(note, &places);
  return places.count;
}

}  // namespace opkit::harness
