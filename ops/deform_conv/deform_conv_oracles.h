// The oracles of DeformConv and of its columns.
#pragma once

#include "engine/op/oracle.h"

namespace opkit::ops::deform_conv {

Status deformConvReference(const OracleArgs& args);
Status deformColumnsReference(const OracleArgs& args);

}  // namespace opkit::ops::deform_conv
