#include "library/remote/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace pstrain {
namespace {

constexpr std::string_view kOwner("GNU\0", 4);

std::size_t Aligned(std::size_t size) { return (size + 3) / 4 * 4; }

std::string Hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value / 16];
    text += kDigits[value % 16];
  }
  return text;
}

/// Of a segment of notes, which the linker has made and the kernel has mapped.
std::string BuildIdIn(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    notes.remove_prefix(sizeof(header));
    const std::size_t name = Aligned(header.n_namesz);
    const std::size_t whole = name + Aligned(header.n_descsz);
    if (whole > notes.size()) return {};
    if (header.n_type == NT_GNU_BUILD_ID && notes.substr(0, header.n_namesz) == kOwner) {
      return Hexadecimal(notes.substr(name, header.n_descsz));
    }
    notes.remove_prefix(whole);
  }
  return {};
}

/// The first object is the program itself.
int FindInFirst(dl_phdr_info* object, std::size_t /*size*/, void* result) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader's own way to say where it is.
    const char* begin = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    std::string id = BuildIdIn({begin, segment.p_memsz});
    if (id.empty()) continue;
    *static_cast<std::string*>(result) = std::move(id);
    break;
  }
  return 1;
}

}  // namespace

std::string BuildIdOfProgram() {
  std::string id;
  dl_iterate_phdr(FindInFirst, &id);
  return id;
}

}  // namespace pstrain
