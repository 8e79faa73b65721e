internal import Calls
internal import Storage

/// Devices that are woken.
enum DeviceRecords {
  static func all(of person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) -> [Device] {
    var found: [Device] = []
    let rows = try transaction.run(
      """
      SELECT device, platform, topic, token, environment, screen, registered, used FROM devices WHERE person = $1
      ORDER BY device
      """, [.bytes(of: person.text)])
    for row in rows { found.append(try read(row)) }
    return found
  }

  /// Some of them, those that were registered last first.
  /// - Parameter moment: those that weren't used since then are left out.
  static func page(
    of person: PersonID, usedSince moment: Int64, before place: DevicePage.Place?, limit: Int,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> DevicePage {
    let rows = try transaction.run(
      """
      SELECT device, platform, topic, token, environment, screen, registered, used FROM devices
      WHERE person = $1 AND used >= $5 AND (registered, device) < ($2, $3)
      ORDER BY registered DESC, device DESC LIMIT $4
      """,
      [
        .bytes(of: person.text), .integer(place?.registered ?? .max), .bytes(of: place?.id.text ?? ""),
        .integer(limit + 1), .integer(moment),
      ])
    var page = DevicePage(devices: [])
    for row in rows.prefix(limit) { page.devices.append(try read(row)) }
    if rows.count > limit, let last = page.devices.last {
      page.next = DevicePage.Place(registered: last.registeredAt, id: last.id)
    }
    return page
  }

  private static func read(_ row: SQLRow) throws(StoreError) -> Device {
    guard let platform = Device.Platform(rawValue: try row.text(1)),
      let environment = Device.Environment(rawValue: try row.text(4)),
      let screen = Device.Screen(rawValue: try row.text(5))
    else { throw .unreadable("a device is of no known kind") }
    var device = Device(
      DeviceID(try row.string(0)), platform: platform, topic: try row.string(2), token: try row.string(3))
    (device.environment, device.screen) = (environment, screen)
    (device.registeredAt, device.usedAt) = (try row.integer(6), try row.integer(7))
    return device
  }

  /// Who else has a device with that token.
  static func owner(
    of device: Device, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (person: PersonID, device: DeviceID)? {
    let rows = try transaction.run(
      "SELECT person, device FROM devices WHERE platform = $1 AND topic = $2 AND token = $3",
      [.text(device.platform.rawValue), .bytes(of: device.topic), .bytes(of: device.token)])
    guard let row = rows.first else { return nil }
    return (PersonID(try row.string(0)), DeviceID(try row.string(1)))
  }

  static func write(
    _ device: Device, of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO devices (person, device, platform, topic, token, environment, screen, registered, used)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (person, device) DO UPDATE SET platform = excluded.platform, topic = excluded.topic,
        token = excluded.token, environment = excluded.environment, screen = excluded.screen,
        registered = excluded.registered, used = excluded.used
      """,
      [
        .bytes(of: person.text), .bytes(of: device.id.text), .text(device.platform.rawValue),
        .bytes(of: device.topic), .bytes(of: device.token), .text(device.environment.rawValue),
        .text(device.screen.rawValue), .integer(device.registeredAt), .integer(device.usedAt),
      ])
  }

  /// - Returns: whether there was one.
  static func remove(
    _ device: DeviceID, of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try !transaction.run(
      "DELETE FROM devices WHERE person = $1 AND device = $2 RETURNING device",
      [.bytes(of: person.text), .bytes(of: device.text)]
    ).isEmpty
  }

  static func noteUse(
    of device: DeviceID, by person: PersonID, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    // Once an hour is enough to know whether it is used at all.
    try transaction.run(
      "UPDATE devices SET used = $3 WHERE person = $1 AND device = $2 AND used < $4",
      [
        .bytes(of: person.text), .bytes(of: device.text), .integer(now.wall), .integer(now.wall - 3_600_000),
      ])
  }

  /// Those that weren't used since then, some at a time.
  static func unused(
    since moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(person: PersonID, device: DeviceID)] {
    var found: [(person: PersonID, device: DeviceID)] = []
    let rows = try transaction.run(
      "SELECT person, device FROM devices WHERE used < $1 ORDER BY used LIMIT $2",
      [.integer(moment), .integer(portion.limit)])
    for row in try portion.take(rows) {
      found.append((PersonID(try row.string(0)), DeviceID(try row.string(1))))
    }
    return found
  }

  /// Also those that can't be understood.
  /// - Returns: which they were.
  static func erase(
    _ person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [DeviceID] {
    let rows = try transaction.run(
      "DELETE FROM devices WHERE person = $1 RETURNING device", [.bytes(of: person.text)])
    var devices: [DeviceID] = []
    for row in rows { devices.append(DeviceID(String(decoding: try row.bytes(0), as: UTF8.self))) }
    return devices.sorted { $0.text < $1.text }
  }
}
