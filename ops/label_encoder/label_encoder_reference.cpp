#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/label_encoder/label_encoder_parts.h"

namespace opkit::ops::label_encoder {

/// Looks at every key in turn.
Status reference(const OracleArgs& args) {
  const OracleTensor &x = args.input(0), &keys = args.input(1), &values = args.input(2);
  OracleTensor& y = args.output();
  const auto isKey = [&](size_t key, size_t i) {
    if (!x.isReal()) return keys.integer[key] == x.integer[i];
    return keys.real[key] == x.real[i] || (std::isnan(keys.real[key]) && std::isnan(x.real[i]));
  };
  for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i) {
    copyElement(args.input(3), size_t{0}, y, i);
    for (size_t key = 0; key < static_cast<size_t>(keys.elements()); ++key)
      if (isKey(key, i)) copyElement(values, key, y, i);
  }
  return Status::ok();
}

}  // namespace opkit::ops::label_encoder
