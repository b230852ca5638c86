#pragma once
namespace gloo::transport {
class Device;
}
