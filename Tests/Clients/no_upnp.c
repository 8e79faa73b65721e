/* In the place of Debian 12's UPnP library, which brings a second version of libsoup into GStreamer's WHIP client: libsoup ends such a process. */
unsigned long gupnp_simple_igd_get_type(void) { return 0; }
void *gupnp_simple_igd_thread_new(void) { return 0; }
void gupnp_simple_igd_add_port(void) {}
void gupnp_simple_igd_remove_port_local(void) {}
