import COpenSSL

/// A new P-256 key with a certificate for it that it signs itself.
enum SelfSigned {
  /// - Parameters:
  ///   - notBefore: wall time, in seconds since 1970.
  ///   - notAfter: likewise, later than `notBefore`.
  ///   - names: for whom it speaks, as OpenSSL writes them (`DNS:relay.example,IP:192.0.2.1`); nil: no one by
  ///     name, as between peers that compare fingerprints.
  /// - Returns: both are the caller's to free.
  static func make(
    notBefore: Int64, notAfter: Int64, names: String? = nil
  ) throws(OpenSSLError) -> (certificate: OpaquePointer, key: OpaquePointer) {
    ERR_clear_error()
    guard let key = shim_EVP_EC_gen("P-256") else { throw .take("EVP_EC_gen") }
    guard let certificate = X509_new() else {
      EVP_PKEY_free(key)
      throw .take("X509_new")
    }
    do throws(OpenSSLError) {
      try fill(certificate, key: key, notBefore: notBefore, notAfter: notAfter)
      if let names { try add(names: names, to: certificate) }
      guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw .take("X509_sign") }
    } catch {
      X509_free(certificate)
      EVP_PKEY_free(key)
      throw error
    }
    return (certificate, key)
  }

  private static func fill(
    _ certificate: OpaquePointer, key: OpaquePointer, notBefore: Int64, notAfter: Int64
  ) throws(OpenSSLError) {
    guard X509_set_version(certificate, 2) == 1 else { throw .take("X509_set_version") }
    // RFC 5280 §4.1.2.2 wants a positive number.
    let serial = Random.integer(UInt64.self) >> 1 | 1
    guard ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1 else {
      throw .take("ASN1_INTEGER_set_uint64")
    }
    guard ASN1_TIME_set(X509_getm_notBefore(certificate), Int(notBefore)) != nil,
      ASN1_TIME_set(X509_getm_notAfter(certificate), Int(notAfter)) != nil
    else { throw .take("ASN1_TIME_set") }
    let name = X509_get_subject_name(certificate)
    guard X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "roost", -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, name) == 1
    else { throw .take("X509_set_issuer_name") }
    guard X509_set_pubkey(certificate, key) == 1 else { throw .take("X509_set_pubkey") }
  }

  /// What browsers look at: the names (RFC 5280 §4.2.1.6), and that it is a server's own and no authority's.
  private static func add(names: String, to certificate: OpaquePointer) throws(OpenSSLError) {
    for (kind, value) in [
      (NID_subject_alt_name, names), (NID_basic_constraints, "critical,CA:FALSE"),
      (NID_key_usage, "critical,digitalSignature"), (NID_ext_key_usage, "serverAuth"),
    ] {
      guard let made = X509V3_EXT_conf_nid(nil, nil, kind, value) else { throw .take("X509V3_EXT_conf_nid") }
      defer { X509_EXTENSION_free(made) }
      guard X509_add_ext(certificate, made, -1) == 1 else { throw .take("X509_add_ext") }
    }
  }
}
