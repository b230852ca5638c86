#pragma once
// The body of an answer: bytes that never change, shared by all who ask for them, also compressed once somebody takes
// them so.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace planscope::server {

class Body {
 public:
  // `etag` without quotes; empty: the digest of the bytes.
  Body(std::string type, std::string bytes, std::string etag = {});

  const std::string& type() const { return type_; }  // as Content-Type says it
  const std::string& bytes() const { return bytes_; }
  const std::string& etag() const { return etag_; }
  bool worth_compressing() const { return bytes_.size() > 1400; }
  bool compressed() const { return ready_; }  // gzip() takes no time any more
  const std::string& gzip() const;

 private:
  const std::string type_, bytes_, etag_;
  mutable std::once_flag once_;
  mutable std::atomic<bool> ready_ = false;
  mutable std::string gzip_;
};

using BodyPtr = std::shared_ptr<const Body>;

std::string gzip(const std::string& bytes);

}  // namespace planscope::server
