internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Who reads figures at present: each costs what its figures do, every two seconds.
final class FigureReaders: Sendable {
  /// Of one holder at once, and of all together.
  static let ofOne = 4
  static let most = 64
  /// Of all, those that are left to who runs the server.
  static let ofOperators = 16

  enum Full: Error { case one, all }

  /// Held by a reader, and free again with it.
  final class Seat: Sendable {
    private let readers: FigureReaders
    private let holder: Int
    private let isOperator: Bool

    fileprivate init(_ holder: Int, isOperator: Bool, _ readers: FigureReaders) {
      (self.holder, self.isOperator, self.readers) = (holder, isOperator, readers)
    }

    deinit { readers.leave(holder, isOperator: isOperator) }
  }

  private struct State {
    var byHolder: [Int: Int] = [:]
    var all = 0
    /// Of those who run a room and no more.
    var ofHosts = 0
  }

  private let taken = Mutex(State())

  init() {}

  /// How many read.
  var count: Int { taken.withLock { $0.all } }

  /// - Parameters:
  ///   - holder: stands for who reads.
  ///   - isOperator: who may list all rooms, and so runs the server.
  func take(_ holder: Int, isOperator: Bool) throws(Full) -> Seat {
    let full = taken.withLock { taken -> Full? in
      let isLeft = isOperator || taken.ofHosts < Self.most - Self.ofOperators
      if taken.all >= Self.most || !isLeft { return .all }
      #if PLANTED_DEFECTS
        let most = PlantedDefect.isOn(.figuresForOne) ? Self.most : Self.ofOne
      #else
        let most = Self.ofOne
      #endif
      guard taken.byHolder[holder, default: 0] < most else { return .one }
      taken.byHolder[holder, default: 0] += 1
      taken.all += 1
      if !isOperator { taken.ofHosts += 1 }
      return nil
    }
    if let full { throw full }
    return Seat(holder, isOperator: isOperator, self)
  }

  private func leave(_ holder: Int, isOperator: Bool) {
    taken.withLock { taken in
      let before = taken.byHolder[holder] ?? 1
      taken.byHolder[holder] = before > 1 ? before - 1 : nil
      taken.all -= 1
      if !isOperator { taken.ofHosts -= 1 }
    }
  }
}
