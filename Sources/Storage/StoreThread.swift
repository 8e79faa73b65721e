internal import CSystem
internal import Glibc
internal import Logging
internal import Polling

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The thread that has the database: neither a worker nor the control plane waits for a disk.
final class StoreThread: Sendable {
  private let shared: StoreShared
  private let log: Log
  private let makeDatabase: @Sendable () -> any Database

  /// - Parameter makeDatabase: called on the thread.
  init(
    _ shared: StoreShared, log: Log, _ makeDatabase: @escaping @Sendable () -> any Database
  ) throws(StoreError) {
    self.shared = shared
    self.log = log
    self.makeDatabase = makeDatabase
    var handle = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(&handle, nil, storeMain, context)
    guard code == 0 else {
      Unmanaged<StoreThread>.fromOpaque(context).release()
      throw .cannotOpen("no thread for the store: \(String(cString: strerror(code)))")
    }
    pthread_detach(handle)
  }

  fileprivate func loop() {
    rs_setname(pthread_self(), "roost-store")
    work()
    // By now the database is another server's to have.
    shared.end()
  }

  private func work() {
    var worker = StoreWorker(shared, makeDatabase(), log: log)
    while let group = shared.take() {
      guard !group.isEmpty else {
        shared.wakeup.wait(atMost: .seconds(60))
        shared.wakeup.clear()
        continue
      }
      worker.perform(group)
    }
    worker.close()
  }
}

/// Has the database, and does with it what the store is asked, group by group. It belongs to one thread.
struct StoreWorker {
  private let shared: StoreShared
  private let database: any Database
  private let log: Log
  private var health = StoreHealth()
  private var isFirst = true
  /// Another server has the database, and this one will never again.
  private var isOver = false

  init(_ shared: StoreShared, _ database: any Database, log: Log) {
    self.shared = shared
    self.database = database
    self.log = log
  }

  mutating func perform(_ group: [StoreQueue.Job]) {
    var work = StoreWork(group, database)
    work.perform()
    let wasWell = health.problem == nil
    health.note(work.problem, isWrite: work.isWrite, changed: work.hasChanged)
    let problem = health.problem
    shared.finish { $0.note(work, isUp: problem == nil) }
    // What is wrong at the start is said by who started it.
    if !isFirst, (problem == nil) != wasWell || work.problem?.isForGood == true && !isOver { note(problem) }
    if work.problem?.isForGood == true { isOver = true }
    isFirst = false
    work.answer()
  }

  func close() { database.close() }

  /// Said once, until it is well again.
  private func note(_ problem: StoreError?) {
    if let problem {
      let words = problem.isForGood ? "nothing is stored any more" : "nothing can be stored at the moment"
      log.error(words, ["where": database.place, "reason": "\(problem)"])
    } else {
      log.info("storing again", ["where": database.place])
    }
  }
}

/// Apart from any actor: C calls it on the new thread.
private func storeMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<StoreThread>.fromOpaque(context).takeRetainedValue().loop()
  return nil
}

/// One read, or a group of writes on their way into one transaction.
struct StoreWork {
  private let jobs: [StoreQueue.Job]
  private let database: any Database
  /// Of the jobs that are done, by their places.
  private var done: [Int: @Sendable () -> Void] = [:]
  /// Of those that failed by themselves: they were refused, or found what can't be read.
  private var refused: [Int: StoreError] = [:]
  /// Why none was done.
  private(set) var problem: StoreError?
  /// Something was changed, or may have been.
  private(set) var hasChanged = false
  private(set) var time = Duration.zero

  init(_ jobs: [StoreQueue.Job], _ database: any Database) {
    self.jobs = jobs
    self.database = database
  }

  var isWrite: Bool { jobs.first?.isWrite == true }
  var count: Int { jobs.count }
  /// Of each job that failed, why.
  var failures: [StoreError] { problem.map { Array(repeating: $0, count: count) } ?? Array(refused.values) }

  mutating func perform() {
    let begin = ContinuousClock.now
    do throws(StoreError) {
      if !database.isOpen {
        try database.open()
        do throws(StoreError) {
          try Schema.apply(to: database)
          try database.claim()
        } catch {
          database.close()
          throw error
        }
      }
      if isWrite {
        try write()
      } else {
        for place in jobs.indices { try perform(place) }
      }
    } catch {
      problem = error
      // What was done stands in no transaction any more.
      done = [:]
    }
    time = .now - begin
  }

  private mutating func write() throws(StoreError) {
    let changes = database.changes
    try database.begin()
    do throws(StoreError) {
      for place in jobs.indices {
        // One that is alone takes nothing from others.
        if count > 1 { try database.execute("SAVEPOINT one") }
        try perform(place)
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.groupUndone), let refusal = refused[place] { throw refusal }
        #endif
        if count > 1 { try database.execute(refused[place] == nil ? "RELEASE one" : "ROLLBACK TO one") }
      }
      if refused.count == count { return database.rollBack() }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.answeredBeforeSync) {
          for tell in done.values { tell() }
          done = [:]
        }
      #endif
      try database.commit()
      hasChanged = changes == nil || database.changes != changes
    } catch {
      database.rollBack()
      throw error
    }
  }

  private mutating func perform(_ place: Int) throws(StoreError) {
    let transaction = Transaction(database)
    do throws(StoreError) { done[place] = try jobs[place].perform(transaction) } catch {
      guard error.isOfOne else { throw error }
      refused[place] = error
    }
  }

  /// Tells those who wait what became of it.
  func answer() {
    for place in jobs.indices {
      if let problem {
        jobs[place].fail(problem)
      } else if let refusal = refused[place] {
        jobs[place].fail(refusal)
      } else {
        done[place]?()
      }
    }
  }
}

extension StoreReport {
  /// Counts what became of a group.
  mutating func note(_ work: StoreWork, isUp: Bool) {
    self.isUp = isUp
    for failure in work.failures { failures[failure.reason, default: 0] += 1 }
    guard work.problem == nil else { return }
    guard work.isWrite else {
      reads += UInt64(work.count)
      return
    }
    writes += UInt64(work.count - work.failures.count)
    syncs += 1
    syncTime += work.time
  }
}
