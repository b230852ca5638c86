// With a certificate the same answers come encrypted, and nothing comes to those who do not encrypt.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/app/server/client.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

// A certificate that names itself, valid for an hour, and its key.
void write_certificate(const std::string& certificate, const std::string& key) {
  EVP_PKEY* k = EVP_RSA_gen(2048);
  X509* x = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), 0);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, k);
  X509_NAME* name = X509_get_subject_name(x);
  const std::string host = "localhost";
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(host.data()), -1, -1, 0);
  X509_set_issuer_name(x, name);
  X509_sign(x, k, EVP_sha256());
  std::FILE* f = std::fopen(certificate.c_str(), "w");
  PEM_write_X509(f, x);
  std::fclose(f);
  f = std::fopen(key.c_str(), "w");
  PEM_write_PrivateKey(f, k, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(f);
  X509_free(x);
  EVP_PKEY_free(k);
}

}  // namespace

TEST_CASE("with a certificate answers come encrypted", "[server]") {
  const testing::Scratch scratch;
  write_certificate(scratch.file("c.pem"), scratch.file("k.pem"));
  server::ServerSettings s;
  s.port = 0;
  s.certificate = scratch.file("c.pem");
  s.key = scratch.file("k.pem");
  const Result<std::unique_ptr<server::Server>> started = server::Server::start(std::move(s));
  INFO(to_string(started.diagnostics));
  REQUIRE(started.ok());
  const server::Server& server = **started.value;
  CHECK(server.url().starts_with("https://127.0.0.1:"));

  asio::io_context io;
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_verify_mode(asio::ssl::verify_none);
  asio::ssl::stream<asio::ip::tcp::socket> stream(io, context);
  const int port = std::stoi(server.base().substr(server.base().rfind(':') + 1));
  stream.next_layer().connect({asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(port)});
  stream.handshake(asio::ssl::stream_base::client);
  http::request<http::empty_body> request(http::verb::get, "/api/panels", 11);
  request.set(http::field::host, "127.0.0.1:" + std::to_string(port));
  request.set(http::field::authorization, "token " + server.token());
  http::write(stream, request);
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  http::read(stream, buffer, answer);
  CHECK(answer.result_int() == 200);
  CHECK(server::Json::parse(answer.body())["panels"].size() > 10);

  CHECK(testing::Client(server).get("/api/panels").status == 0);
}
