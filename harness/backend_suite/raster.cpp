// The raster kernel: strided copies of every element size, fills, overlapping reads, resizing.
#include "harness/backend_suite/patterns.h"
#include "harness/backend_suite/suite.h"

namespace opkit::harness::backend_suite {
namespace {

Region regionOf(Shape size, int64_t sourceOffset, std::vector<int64_t> sourceStrides) {
  Region region;
  region.sourceOffset = sourceOffset;
  region.size = std::move(size);
  region.sourceStrides = std::move(sourceStrides);
  region.strides = contiguousStrides(region.size);
  return region;
}

/// The definition in region.h, element by element.
Result<Tensor> expectedOf(const RegionList& list, const Tensor& source, const TensorDesc& desc) {
  OPKIT_ASSIGN(Tensor result, Tensor::onHost(desc));  // zeroed
  const size_t bytes = sizeOf(desc.dtype);
  for (const Region& region : list.regions)
    forEachIndex(region.size, [&](const std::vector<int64_t>& index) {
      int64_t from = region.sourceOffset, to = region.offset;
      for (size_t d = 0; d < index.size(); ++d) {
        from += index[d] * region.sourceStrides[d];
        to += index[d] * region.strides[d];
      }
      std::copy_n(source.bytes().begin() + from * static_cast<int64_t>(bytes), bytes,
                  result.bytes().begin() + to * static_cast<int64_t>(bytes));
    });
  return result;
}

/// Resizes and runs the raster as a pipeline does, and compares with expectedOf.
Status runRaster(Backend& backend, RasterExecution& raster, const RegionList& list, const Tensor& host,
                 const TensorDesc& desc) {
  OPKIT_ASSIGN(const Tensor source, toDevice(backend, host));
  OPKIT_ASSIGN(Tensor dirty, pattern(desc, 77));
  OPKIT_ASSIGN(const Tensor target, toDevice(backend, dirty));
  const Tensor *in = &source, *out = &target;
  raster.setRegions(list);
  OPKIT_TRY(backend.onResizeBegin());
  OPKIT_TRY(backend.beginSegment(0));
  OPKIT_TRY(raster.onResize({&in, 1}, {&out, 1}));
  OPKIT_TRY(backend.endSegment(0));
  OPKIT_TRY(raster.onExecute({&in, 1}, {&out, 1}));
  OPKIT_TRY(backend.onExecuteEnd(0));
  OPKIT_ASSIGN(const Tensor expected, expectedOf(list, host, desc));
  return expectHolds(backend, target, expected, "raster");
}

Status onFresh(const Context& context, const RegionList& list, const TensorDesc& from, const TensorDesc& to) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const auto raster, backend->createRaster());
  OPKIT_ASSIGN(const Tensor host, pattern(from, 11));
  return runRaster(*backend, *raster, list, host, to);
}

Status transposes(const Context& context) {
  for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Int64}) {
    const RegionList list{{regionOf({7, 5, 3}, 0, {1, 7, 35})}};
    OPKIT_TRY(onFresh(context, list, {dtype, {3, 5, 7}}, {dtype, {7, 5, 3}}));
  }
  return Status::ok();
}

Status mirrorsAndRepeats(const Context& context) {
  const TensorDesc desc{DType::Float32, {6, 9}};
  OPKIT_TRY(onFresh(context, {{regionOf({6, 9}, 53, {-9, -1})}}, desc, desc));
  return onFresh(context, {{regionOf({6, 9}, 4, {9, 0})}}, desc, desc);
}

Status fills(const Context& context) {
  RegionList list{{regionOf({2, 3}, 0, {3, 1})}, RegionList::Fill::Zero};
  list.regions[0].offset = 8;
  list.regions[0].strides = {7, 1};
  return onFresh(context, list, {DType::Float32, {2, 3}}, {DType::Float32, {4, 7}});
}

Status severalRegions(const Context& context) {
  RegionList list{{regionOf({5}, 5, {1}), regionOf({5}, 0, {1})}};
  list.regions[1].offset = 5;
  return onFresh(context, list, {DType::Float32, {10}}, {DType::Float32, {10}});
}

Status emptyRegions(const Context& context) {
  return onFresh(context, {{regionOf({3, 0, 2}, 0, {0, 2, 1})}}, {DType::Float32, {3, 0, 2}},
                 {DType::Float32, {3, 0, 2}});
}

Status resizesRaster(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const auto raster, backend->createRaster());
  for (const int64_t rows : {3, 70, 1, 0, 3}) {
    const TensorDesc from{DType::Float32, {rows, 5}}, to{DType::Float32, {5, rows}};
    OPKIT_ASSIGN(const Tensor host, pattern(from, static_cast<int>(rows)));
    OPKIT_TRY(runRaster(*backend, *raster, {{regionOf({5, rows}, 0, {1, 5})}}, host, to)
                  .withContext(fmt::format("at {} rows", rows)));
  }
  return Status::ok();
}

}  // namespace

void addRasterTests(std::vector<Test>& tests) {
  tests.push_back({"raster", "raster.transpose", "elements of 1, 2, 4 and 8 bytes", transposes});
  tests.push_back({"raster", "raster.strides", "negative and zero strides", mirrorsAndRepeats});
  tests.push_back({"raster", "raster.fill", "what no region covers is zero", fills});
  tests.push_back({"raster", "raster.regions", "several regions of one source", severalRegions});
  tests.push_back({"raster", "raster.empty", "regions without elements", emptyRegions});
  tests.push_back({"raster", "raster.resize", "one raster at five shapes", resizesRaster});
}

}  // namespace opkit::harness::backend_suite
