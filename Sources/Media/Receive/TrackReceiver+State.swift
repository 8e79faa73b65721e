public import Model
internal import Wire

extension TrackReceiver {
  /// Everything but the section, which the session keeps.
  public func encode(into writer: inout StateWriter) {
    writer.write(ssrc != nil)
    writer.write(ssrc ?? 0)
    writer.write(rtxSSRC != nil)
    writer.write(rtxSSRC ?? 0)
    statistics.encode(into: &writer)
    nack.encode(into: &writer)
    keyFrames.encode(into: &writer)
    writer.write(restarts)
    clock.encode(into: &writer)
    writer.write(formatNumber)
    writer.write(intraSequence)
    writer.write(hasLeft)
    writer.write(hasMoved)
    writer.write(templates != nil)
    writer.write(templates?.offset ?? 0)
    writer.write(templates?.count ?? 0)
    writer.write(templates?.decodeTargets ?? 0)
    writer.write(templates?.discardable ?? 0)
    writer.write(isMuted)
  }

  /// - Parameter encoding: which of the section's.
  public init(
    _ section: ReceiveSection, encoding: Int = 0, from reader: inout StateReader
  ) throws(StateError) {
    self.init(section, encoding: encoding)
    let bound = try reader.bool()
    let media: UInt32 = try reader.integer()
    ssrc = bound ? media : nil
    let boundRTX = try reader.bool()
    let rtx: UInt32 = try reader.integer()
    rtxSSRC = boundRTX ? rtx : nil
    statistics = try ReceptionStatistics(from: &reader)
    nack = try NACKGenerator(from: &reader)
    keyFrames = try KeyFrameRequester(from: &reader)
    restarts = try reader.integer()
    clock = try TrackClock(from: &reader)
    formatNumber = try reader.integer()
    intraSequence = try reader.integer()
    hasLeft = try reader.bool()
    hasMoved = try reader.bool()
    let hasTemplates = try reader.bool()
    let known = DependencyTemplates(
      offset: try reader.integer(), count: try reader.integer(), decodeTargets: try reader.integer(),
      discardable: try reader.integer())
    guard known.count <= 64, known.decodeTargets <= 32 else {
      throw .invalid(field: "dependency templates", offset: reader.offset)
    }
    templates = hasTemplates ? known : nil
    isMuted = try reader.bool()
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.mutedFlowsAfterMove) { isMuted = false }
    #endif
  }
}
