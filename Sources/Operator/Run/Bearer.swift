internal import AccessTokens
internal import Configuration

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What requests say about who asks.
struct Bearer {
  let credential: ServerAccess.Credential

  /// Whether tokens are made here.
  var signs: Bool { if case .keyPair = credential { true } else { false } }

  /// Seconds for which a token made here is good: as long as a request may take; a stream asks for another when it ends.
  static func lifetime(of ask: Ask) -> Int { ask.isStream ? 3_600 : 120 }

  /// - Parameter now: seconds since 1970.
  /// - Returns: a token that allows what is asked, and nothing else where it is made here.
  func token(for ask: Ask, now: Int) -> String {
    switch credential {
    case .token(let token): return token
    case .keyPair(let key, let secret):
      var grants = Grants()
      switch ask.right {
      case .list: grants.roomList = true
      case .create: grants.roomCreate = true
      case .administer(let room):
        grants.roomAdmin = true
        grants.room = room
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.tokenForAll) {
          (grants.roomList, grants.roomCreate, grants.roomAdmin) = (true, true, true)
        }
      #endif
      return AccessToken(
        apiKey: key, identity: nil, expires: now + Self.lifetime(of: ask), notBefore: now, issuedAt: now,
        grants: grants
      ).signed(secret: secret)
    }
  }
}
