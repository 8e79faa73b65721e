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
    dependencies.encode(into: &writer)
    writer.write(isMuted)
    for layer in 0..<EncodingDescription.spatialLimit {
      writer.write(pictures.pictures[layer].width)
      writer.write(pictures.pictures[layer].height)
    }
  }

  /// - Parameters:
  ///   - encoding: which of the section's.
  ///   - hasStructure: false for what builds wrote that read a part of a dependency structure.
  ///   - hasPictures: false for what builds wrote that learnt the sizes of pictures from the next key frames.
  public init(
    _ section: ReceiveSection, encoding: Int = 0, from reader: inout StateReader, hasStructure: Bool = true,
    hasPictures: Bool = true
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
    if hasStructure {
      dependencies = try DependencyReader(from: &reader)
    } else {
      try DependencyReader.skipTemplates(&reader)
    }
    isMuted = try reader.bool()
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.mutedFlowsAfterMove) { isMuted = false }
    #endif
    for layer in 0..<EncodingDescription.spatialLimit where hasPictures {
      pictures.pictures[layer] = PictureSize(width: try reader.integer(), height: try reader.integer())
    }
  }
}
