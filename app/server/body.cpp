#include "app/server/body.h"

#include <zlib.h>

#include <stdexcept>

#include "engine/base/text.h"

namespace planscope::server {

Body::Body(std::string type, std::string bytes, std::string etag)
    : type_(std::move(type)), bytes_(std::move(bytes)), etag_(etag.empty() ? hex(digest(bytes_)) : std::move(etag)) {}

const std::string& Body::gzip() const {
  std::call_once(once_, [this] {
    gzip_ = server::gzip(bytes_);
    ready_ = true;
  });
  return gzip_;
}

std::string gzip(const std::string& bytes) {
  z_stream z{};
  constexpr int level = 6, gzip_window = 15 + 16, memory = 8;
  if (deflateInit2(&z, level, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot begin");
  std::string out(deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  if (end != Z_STREAM_END) throw std::runtime_error("zlib cannot compress");
  return out;
}

}  // namespace planscope::server
