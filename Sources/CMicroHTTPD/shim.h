#pragma once
// libmicrohttpd's variadic functions with the arguments that the server gives. No logic lives here.
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <microhttpd.h>

/// The functions that a daemon calls, each with `owner` as its first argument.
struct roost_mhd_callbacks {
  void *(*target)(void *owner, const char *uri, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback request;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  MHD_LogCallback message;
};

/// A daemon that has no thread and no listening socket: it is polled by its owner and given connections.
static inline struct MHD_Daemon *roost_mhd_start(void *owner, struct roost_mhd_callbacks callbacks,
                                                 unsigned int connections, size_t memory) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG,
      0, NULL, NULL, callbacks.request, owner, MHD_OPTION_EXTERNAL_LOGGER, callbacks.message, owner,
      MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, owner,
      MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, owner, MHD_OPTION_NOTIFY_CONNECTION,
      callbacks.connection, owner, MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, (int)0, MHD_OPTION_END);
}

static inline int roost_mhd_descriptor(struct MHD_Daemon *daemon) {
  return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

/// Whether request line and header fields have been read to their end. A request that was refused before has a size too, 0,
/// as long as its answer is being written.
static inline bool roost_mhd_has_head(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info != NULL && info->header_size > 0;
}

/// Bytes of request line and header fields.
static inline size_t roost_mhd_head_size(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
}

/// Seconds without a byte either way; 0: no bound.
static inline void roost_mhd_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static inline void roost_mhd_close_upgraded(struct MHD_UpgradeResponseHandle *upgraded) {
  MHD_upgrade_action(upgraded, MHD_UPGRADE_ACTION_CLOSE);
}
