//===- EmulatedMemory.cpp - Device memory and images ----------------------===//

#include "EmulatedMemory.h"

#include "EmulatedLaunch.h"
#include "kernelbrain/Runtime/CudaDriver.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace kernelbrain::emulator {

static constexpr size_t page = 4096;

static size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

static void *mapNothing(size_t bytes) {
  void *at = ::mmap(nullptr, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

uint64_t DeviceMemory::allocate(size_t bytes) {
  size_t used = roundUp(std::max<size_t>(bytes, 1), 256);
  size_t room = roundUp(used, page);
  auto *begin = static_cast<char *>(mapNothing(room + 2 * page));
  if (!begin)
    return 0;
  if (::mprotect(begin + page, room, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(begin, room + 2 * page);
    return 0;
  }
  char *at = begin + page + room - used;
  std::memset(at, 0xff, used);
  allocations[reinterpret_cast<uint64_t>(at)] = {begin, room + 2 * page};
  return reinterpret_cast<uint64_t>(at);
}

bool DeviceMemory::release(uint64_t memory) {
  auto found = allocations.find(memory);
  if (found == allocations.end())
    return false;
  ::munmap(found->second.begin, found->second.bytes);
  allocations.erase(found);
  return true;
}

uint64_t DeviceMemory::reserve(size_t bytes) {
  // Page-aligned addresses will do: nothing here looks at larger pages.
  return bytes % granularity ? 0
                             : reinterpret_cast<uint64_t>(mapNothing(bytes));
}

bool DeviceMemory::unreserve(uint64_t memory, size_t bytes) {
  return ::munmap(reinterpret_cast<void *>(memory), bytes) == 0;
}

bool DeviceMemory::map(uint64_t memory, size_t bytes) {
  return ::mprotect(reinterpret_cast<void *>(memory), bytes,
                    PROT_READ | PROT_WRITE) == 0;
}

bool DeviceMemory::unmap(uint64_t memory, size_t bytes) {
  return ::mprotect(reinterpret_cast<void *>(memory), bytes, PROT_NONE) == 0;
}

/// Where the file of an ELF header ends.
static size_t imageBytes(const char *image, const Elf64_Ehdr &header) {
  size_t end = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  for (int k = 0; k < header.e_phnum; ++k) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + k * sizeof segment,
                sizeof segment);
    end = std::max(end, size_t(segment.p_offset + segment.p_filesz));
  }
  for (int k = 0; k < header.e_shnum; ++k) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + k * sizeof section,
                sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max(end, size_t(section.sh_offset + section.sh_size));
  }
  return end;
}

int loadImage(const void *data, void *&library) {
  auto *image = static_cast<const char *>(data);
  if (std::strncmp(image, ELFMAG, SELFMAG) != 0)
    return cuda::InvalidImage;
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_machine != EM_X86_64)
    return cuda::NoBinaryForDevice;
  int file = ::memfd_create("kb-image", MFD_CLOEXEC);
  size_t bytes = imageBytes(image, header), written = 0;
  while (file >= 0 && written < bytes) {
    ssize_t count = ::write(file, image + written, bytes - written);
    if (count <= 0)
      break;
    written += size_t(count);
  }
  // The loader takes one name for one library, and numbers come again: the
  // slashes make a new name of them.
  static size_t images = 0;
  std::string path =
      "/proc/self/fd" + std::string(++images, '/') + std::to_string(file);
  library = written == bytes ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)
                             : nullptr;
  if (!library)
    std::fprintf(stderr, "emulated GPU: cannot load an image: %s\n",
                 written == bytes ? ::dlerror() : "no memory file");
  if (file >= 0)
    ::close(file);
  if (!library)
    return cuda::InvalidImage;
  auto **place =
      static_cast<const KbEmulator **>(::dlsym(library, "kbemu_table"));
  if (!place)
    return cuda::InvalidImage;
  *place = &table;
  return cuda::Success;
}

} // namespace kernelbrain::emulator
