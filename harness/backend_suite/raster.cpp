// The raster kernel: strided copies of every element size, fills, overlapping reads, resizing.
#include <random>

#include "engine/backend/op_runner.h"
#include "engine/op/internal_operators.h"
#include "harness/backend_suite/patterns.h"
#include "harness/backend_suite/suite.h"

namespace opkit::harness::backend_suite {
namespace {

Region regionOf(Shape size, int64_t sourceOffset, DimVector sourceStrides) {
  Region region;
  region.sourceOffset = sourceOffset;
  region.size = std::move(size);
  region.sourceStrides = std::move(sourceStrides);
  region.strides = contiguousStrides(region.size);
  return region;
}

/// Compares the raster of the backend with the oracle, over an output that is not empty before.
Status runRaster(Backend& backend, const RegionList& list, std::span<const Tensor> hosts, const TensorDesc& desc) {
  std::vector<Tensor> sources;
  std::vector<const Tensor*> inputs, oracleInputs;
  std::vector<const TensorDesc*> descs;
  for (const Tensor& host : hosts) {
    OPKIT_ASSIGN(sources.emplace_back(), toDevice(backend, host));
    oracleInputs.push_back(&host);
  }
  for (const Tensor& source : sources) inputs.push_back(&source), descs.push_back(&source.desc);
  OPKIT_ASSIGN(const Tensor expected, pattern(desc, 77));
  OPKIT_ASSIGN(const Tensor target, toDevice(backend, expected));
  OPKIT_ASSIGN(const auto raster, makeRaster(backend, list, descs, target.desc));
  OPKIT_TRY(resizeAndRun(backend, {{raster.get(), inputs, {&target}}}));
  OPKIT_TRY(rasterOracle(list, oracleInputs, expected));
  return expectHolds(backend, target, expected, "raster");
}

Status onFresh(const Context& context, const RegionList& list, const TensorDesc& from, const TensorDesc& to) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const Tensor host, pattern(from, 11));
  return runRaster(*backend, list, {&host, 1}, to);
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
  for (const int64_t rows : {3, 70, 1, 0, 3}) {
    const TensorDesc from{DType::Float32, {rows, 5}}, to{DType::Float32, {5, rows}};
    OPKIT_ASSIGN(const Tensor host, pattern(from, static_cast<int>(rows)));
    OPKIT_TRY(runRaster(*backend, {{regionOf({5, rows}, 0, {1, 5})}}, {&host, 1}, to)
                  .withContext(fmt::format("at {} rows", rows)));
  }
  return Status::ok();
}

/// One source per box of the output, cut along its first axis; each axis runs forwards, backwards or not at all.
struct Drawn {
  RegionList list;
  std::vector<int64_t> sourceElements;
  Shape output;
};

Drawn draw(std::mt19937& random) {
  Drawn drawn;
  drawn.output.assign(1 + random() % 5, 1);
  for (int64_t& extent : drawn.output) extent += static_cast<int64_t>(random() % 6);
  const DimVector strides = contiguousStrides(drawn.output);
  for (int64_t begin = 0; begin < drawn.output[0];) {
    Region region{.source = static_cast<int>(drawn.sourceElements.size()), .size = drawn.output, .strides = strides};
    region.offset = begin * strides[0];
    region.size[0] = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(drawn.output[0] - begin));
    int64_t stride = 1, last = 0;
    for (const int64_t extent : region.size) {
      const auto kind = random() % 4;
      region.sourceStrides.push_back(kind == 0 ? 0 : kind == 1 ? -stride : stride);
      if (kind == 1) region.sourceOffset += stride * (extent - 1);
      if (kind > 0) last += stride * (extent - 1), stride *= extent + static_cast<int64_t>(random() % 2);
    }
    drawn.sourceElements.push_back(last + 1);
    begin += region.size[0];
    drawn.list.regions.push_back(std::move(region));
  }
  if (random() % 4 == 0) drawn.list.fill = RegionList::Fill::Zero, drawn.list.regions.pop_back();
  return drawn;
}

Status drawnRegions(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  std::mt19937 random(20);
  for (int i = 0; i < 40; ++i) {
    const DType dtypes[] = {DType::UInt8, DType::Float16, DType::Float32, DType::Int64};
    const DType dtype = dtypes[i % 4];
    const Drawn drawn = draw(random);
    std::vector<Tensor> hosts;
    for (const int64_t elements : drawn.sourceElements) {
      OPKIT_ASSIGN(hosts.emplace_back(), pattern({dtype, {elements}}, i));
    }
    OPKIT_TRY(runRaster(*backend, drawn.list, hosts, {dtype, drawn.output})
                  .withContext(fmt::format("draw {} of {}", i, toString(drawn.output))));
  }
  return Status::ok();
}

Status rejectsSources(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const Tensor host, pattern({DType::Float32, {4}}, 3));
  const Status status = runRaster(*backend, {{contiguousRegion(1, 0, 0, 4)}}, {&host, 1}, host.desc);
  if (status.code() == StatusCode::Unsupported) return status;
  OPKIT_EXPECT(status.message() == "raster: a region reads source 1, there are 1",
               "a region of a source that is not there: expected an error that names it, got '{}'", status.message());
  return Status::ok();
}

/// Into images and back, on the device.
Status convertsLayouts(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend({.threads = 1, .storage = Storage::Image}));
  if (backend->creators(convertCard()).empty())
    return Status::unsupported("{}: tensors have one layout", backend->name());
  for (const Shape& shape : {Shape{1, 4, 3, 5}, Shape{2, 7, 9, 1}, Shape{3, 1, 2, 2}, Shape{5, 6}}) {
    OPKIT_ASSIGN(const Tensor host, pattern({DType::Float32, shape}, 5));
    OPKIT_ASSIGN(const Tensor plain, toDevice(*backend, host));
    OPKIT_ASSIGN(Tensor other, pattern(host.desc, 6));
    OPKIT_ASSIGN(const Tensor back, toDevice(*backend, other));
    OPKIT_ASSIGN(const Tensor image, onDevice(*backend, {plain.desc, nullptr, 0, 0, Layout::NC4HW4}));
    OPKIT_ASSIGN(const auto in, makeConversion(*backend, plain.desc));
    OPKIT_ASSIGN(const auto out, makeConversion(*backend, plain.desc));
    OPKIT_TRY(resizeAndRun(*backend, {{in.get(), {&plain}, {&image}}, {out.get(), {&image}, {&back}}}));
    OPKIT_TRY(expectHolds(*backend, back, host, "conversion"));
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
  tests.push_back({"raster", "raster.resize", "rasters of five shapes on one backend", resizesRaster});
  tests.push_back({"raster", "raster.drawn", "40 drawn lists of regions", drawnRegions});
  tests.push_back({"raster", "raster.source", "a region of a source that is not there is an error", rejectsSources});
  tests.push_back({"raster", "raster.layouts", "Convert into another layout and back", convertsLayouts});
}

}  // namespace opkit::harness::backend_suite
