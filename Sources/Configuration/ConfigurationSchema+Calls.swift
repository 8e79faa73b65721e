extension ConfigurationSchema {
  /// Calls, and the phones that they wake.
  static let calls: [ConfigurationOption] = [
    .integer(
      "calls.ringTime", \.calls.ringTime, 5...300,
      "Seconds for which a person is rung; then it is missed."),
    .integer(
      "calls.aloneTimeout", \.calls.aloneTimeout, 5...3_600,
      "Seconds for which one who is left alone in a call stays in it, so that one who lost the network can return."
    ),
    .choice(
      "calls.busy", \.calls.busy,
      "Whether one who is in another call is not rung, and has missed it, or is rung all the same with a note of it."
    ),
    .integer(
      "calls.people", \.calls.people, 2...64,
      "People of one call, the caller among them."),
    .integer(
      "calls.startsPerMinute", \.calls.startsPerMinute, 1...10_000,
      "Calls that one person may start in a minute."),
    .integer(
      "calls.ringsPerMinute", \.calls.ringsPerMinute, 1...10_000,
      "Rings in a minute from one person to the same other."),
    .integer(
      "calls.changesPerMinute", \.calls.changesPerMinute, 1...10_000,
      "Changes of calls by one person in a minute, and times that it comes into one."),
    .integer(
      "calls.historyDays", \.calls.historyDays, 1...3_650,
      "Days for which calls that are over stay in the histories."),
    .integer(
      "calls.deliveryHours", \.calls.deliveryHours, 1...8_760,
      "Hours for which it is kept what became of pushes."),
    .integer(
      "calls.signalSeconds", \.calls.signalSeconds, 1...86_400,
      "Seconds behind the end of a call for which its signals and wrapped keys are kept."),
    .choice(
      "calls.directory", \.calls.directory,
      "Whether people with a token of their own see who else there is, by GET /v1/people; with --dev always open."
    ),
    .text(
      "calls.authorize", \.calls.authorize, "a URL such as https://app.example/may#myKey, or \"\"",
      "Server that is asked by POST who may call whom, signed as webhooks are: 2xx is a yes, everything else and a second without an "
        + "answer a no. Behind a # the API key whose secret signs.", { $0.isEmpty || WebhookURL($0) != nil }),
    .path(
      "calls.logKey", \.calls.logKey,
      "PEM file with the private key (ECDSA on P-256) that signs the log of keys. Without one the server makes a key and keeps "
        + "it in the database."),

    .path(
      "push.apns.key", \.push.apns.key,
      "PEM file with the key (.p8) that Apple gives for push notifications. It needs http.url, which pushes carry."
    ),
    .text(
      "push.apns.keyId", \.push.apns.keyId, "a key's id of ten letters and digits, or \"\"",
      "Id of that key.", isAppleID),
    .text(
      "push.apns.teamId", \.push.apns.teamId, "a team's id of ten letters and digits, or \"\"",
      "Id of the team that the key and the app are of.", isAppleID),
    .text(
      "push.apns.productionURL", \.push.apns.productionURL, "an https:// URL",
      "Apple's service for apps from the store.", isSecureURL),
    .text(
      "push.apns.sandboxURL", \.push.apns.sandboxURL, "an https:// URL",
      "Apple's service for apps that Xcode has installed.", isSecureURL),
    .text(
      "push.webhook", \.push.webhook, "a URL such as https://push.example/roost#myKey, or \"\"",
      "Receiver of pushes to devices of the platform webhook; behind a # the API key whose secret signs, needed where there are "
        + "several. It needs http.url, which pushes carry.", { $0.isEmpty || WebhookURL($0) != nil }),
    .path(
      "push.authorities", \.push.authorities,
      "PEM file with the certificates that vouch for these services, in place of the system's."),
    .flag(
      "push.callerName", \.push.callerName,
      "Whether pushes have the caller's name; if not, it is kept from those who carry them, and the app asks for it."
    ),
  ]

  private static let isAppleID: @Sendable (String) -> Bool = { text in
    text.isEmpty
      || text.utf8.count == 10
        && text.unicodeScalars.allSatisfy {
          $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0)
        }
  }

  private static let isSecureURL: @Sendable (String) -> Bool = { text in
    text.hasPrefix("https://") && WebhookURL(text).map { $0.key == nil } ?? false
  }
}
