#include "engine/graph/pass.h"

namespace opkit {

const char* nameOf(GraphPass::Position position) {
  switch (position) {
    case GraphPass::Position::BeforeLowering: return "before-lowering";
    case GraphPass::Position::AfterLowering: return "after-lowering";
    case GraphPass::Position::Last: return "last";
  }
  return "?";
}

}  // namespace opkit
