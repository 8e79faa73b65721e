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
static inline CURLcode rc_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rc_set_body(CURL *handle, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}
typedef size_t (*rc_receiver)(char *bytes, size_t size, size_t count, void *owner);
static inline CURLcode rc_set_receiver(CURL *handle, CURLoption option, rc_receiver value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rc_get_socket(CURL *handle, curl_socket_t *socket) {
  return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, socket);
}
static inline CURLcode rc_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode rc_multi_set_number(CURLM *handle, CURLMoption option, long value) {
  return curl_multi_setopt(handle, option, value);
}
typedef int (*rc_socket_receiver)(CURL *handle, curl_socket_t socket, int wanted, void *owner, void *kept);
static inline CURLMcode rc_multi_set_socket_receiver(CURLM *handle, rc_socket_receiver value, void *owner) {
  CURLMcode code = curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, value);
  return code != CURLM_OK ? code : curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, owner);
}
typedef int (*rc_timer_receiver)(CURLM *handle, long milliseconds, void *owner);
static inline CURLMcode rc_multi_set_timer_receiver(CURLM *handle, rc_timer_receiver value, void *owner) {
  CURLMcode code = curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, value);
  return code != CURLM_OK ? code : curl_multi_setopt(handle, CURLMOPT_TIMERDATA, owner);
}
static inline CURLMcode rc_multi_pass_time(CURLM *handle) {
  int running = 0;
  return curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &running);
}
