// Internal operators: Raster and Convert, which the engine puts between the operators of a model.
//
// Models cannot name them. Backends run them like all operators: Creators, refusals, fallback, cost. Their cards are
// constants, so a card's address identifies the operator.
#pragma once

#include "engine/op/op_def.h"

namespace opkit {

/// Carries out a RegionList: the sources that its regions name -> one output of the same element size. The regions are
/// CreateArgs::regions, so they belong to the Execution. All operators with OpDef::lower run as Rasters.
const OpDef& rasterCard();
/// Copies a tensor into the layout of its output: [...] -> [...], any floating dtype. On backends with several layouts.
const OpDef& convertCard();
/// Null unless `type` is an internal operator.
const OpDef* findInternalOperator(std::string_view type);

/// The definition of Raster in region.h, byte by byte, on host tensors in NCHW. Internal if a region names no source,
/// or one with elements of another size; Unsupported as by inUnits.
Status rasterOracle(const RegionList& list, std::span<const Tensor* const> inputs, const Tensor& output);

}  // namespace opkit
