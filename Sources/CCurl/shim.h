#pragma once
// libcurl sets and tells everything through variadics, which Swift cannot call. No logic lives here.
#include <curl/curl.h>

static inline CURLcode rc_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rc_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rc_set_memory(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rc_get_socket(CURL *handle, curl_socket_t *socket) {
  return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, socket);
}
static inline CURLcode rc_set_writer(CURL *handle, size_t (*writer)(char *, size_t, size_t, void *), void *owner) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, owner) : code;
}
static inline CURLcode rc_get_number(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode rc_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode rc_multi_set_number(CURLM *handle, CURLMoption option, long value) {
  return curl_multi_setopt(handle, option, value);
}
/// The next transfer that is over, and how; NULL: there is none.
static inline CURL *rc_multi_next_done(CURLM *handle, CURLcode *result) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(handle, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
