// Products of four signed bytes: by the device's instruction (SPV_KHR_integer_dot_product) in the form `dots` of a shader's
// axis FORM, by plain arithmetic in others.
#ifndef OPKIT_BYTE_DOTS_GLSL
#define OPKIT_BYTE_DOTS_GLSL

#ifdef FORM_DOTS
#extension GL_EXT_spirv_intrinsics : require
// OpSDotKHR with the capabilities DotProductInput4x8BitPacked and DotProduct; `form` 0: four bytes in a word.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int dotOfWords(uint a, uint b, spirv_literal int form);
int dotBytes(uint a, uint b) { return dotOfWords(a, b, 0); }
#else
int byteOf(uint word, int at) { return bitfieldExtract(int(word), 8 * at, 8); }
int dotBytes(uint a, uint b) {
  return byteOf(a, 0) * byteOf(b, 0) + byteOf(a, 1) * byteOf(b, 1) + byteOf(a, 2) * byteOf(b, 2) +
         byteOf(a, 3) * byteOf(b, 3);
}
#endif

/// Four bytes as a word, the first one lowest.
uint wordOf(uvec4 bytes) { return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24; }

/// The bits of a byte as a signed number, from one of either sign: unsigned ones are 128 too large, as their zero points
/// are. `flip` is 128 for unsigned ones, else 0.
#define SIGNED_BYTE(byte, flip) (int((uint(byte) ^ (flip)) << 24) >> 24)

#endif
