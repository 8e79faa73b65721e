"""Reads QR codes by Debian's zbar, which knows nothing of the page that drew them."""

import ctypes

QUIET, SCALE = 4, 3  # modules of light around a code, pixels of a module


class Zbar:
    """libzbar, as far as it is needed."""

    def __init__(self):
        self.library = ctypes.CDLL("libzbar.so.0")
        for name in ("zbar_image_scanner_create", "zbar_image_create", "zbar_image_first_symbol", "zbar_symbol_get_data"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.scanner = ctypes.c_void_p(self.library.zbar_image_scanner_create())

    def read(self, rows):
        """The text of a code, or None where it can't be read."""
        size = SCALE * (len(rows) + 2 * QUIET)
        light = bytes([255]) * size
        lines = [light] * (SCALE * QUIET)
        for row in rows:
            middle = b"".join((b"\x00" if dark else b"\xff") * SCALE for dark in row)
            edge = b"\xff" * (SCALE * QUIET)
            lines += [edge + middle + edge] * SCALE
        lines += [light] * (SCALE * QUIET)
        pixels = b"".join(lines)
        image = ctypes.c_void_p(self.library.zbar_image_create())
        self.library.zbar_image_set_format(image, ctypes.c_ulong(int.from_bytes(b"Y800", "little")))
        self.library.zbar_image_set_size(image, size, size)
        self.library.zbar_image_set_data(image, pixels, ctypes.c_ulong(len(pixels)), None)
        try:
            if self.library.zbar_scan_image(self.scanner, image) != 1:
                return None
            symbol = ctypes.c_void_p(self.library.zbar_image_first_symbol(image))
            return ctypes.string_at(self.library.zbar_symbol_get_data(symbol)).decode()
        finally:
            self.library.zbar_image_destroy(image)
