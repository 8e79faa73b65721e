// layers publish URL TOKEN SOUND FILE… | layers watch URL TOKEN SECONDS: Pion with simulcast by WHIP, and with what a player gets of it.
//
// Publishes IVF files of VP8, one a layer, the lowest first, again and again until it is ended by SIGTERM. `watch` prints a line for each
// key frame that comes, with the seconds since it began and its width, and at its end how many pictures came whole and how many
// did not. MEDIA_PORT, where it is set, is the server's port for media.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
	"github.com/pion/webrtc/v3/pkg/media/ivfreader"
	"github.com/pion/webrtc/v3/pkg/media/oggreader"
)

const pace = time.Second / 30

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// await returns once DTLS is connected; not by the connection's own state, which whip.go explains.
func await(transport *webrtc.DTLSTransport) {
	for transport.State() != webrtc.DTLSTransportStateConnected {
		time.Sleep(5 * time.Millisecond)
	}
	fmt.Println("connected")
}

var port = regexp.MustCompile(`(?m)^(a=candidate:\S+ \d+ udp \d+ \S+) \d+ `)

// exchange sends the offer with all candidates and takes the answer. Returns the session's address.
func exchange(pc *webrtc.PeerConnection, address, token string) string {
	offer, err := pc.CreateOffer(nil)
	check(err)
	gathered := webrtc.GatheringCompletePromise(pc)
	check(pc.SetLocalDescription(offer))
	<-gathered
	request, err := http.NewRequest("POST", address, strings.NewReader(pc.LocalDescription().SDP))
	check(err)
	request.Header.Set("Content-Type", "application/sdp")
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	bytes, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != http.StatusCreated {
		check(fmt.Errorf("%s: %s", answer.Status, bytes))
	}
	body := string(bytes)
	if other := os.Getenv("MEDIA_PORT"); other != "" {
		body = port.ReplaceAllString(body, "$1 "+other+" ")
	}
	check(pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: body}))
	base, err := url.Parse(address)
	check(err)
	place, err := base.Parse(answer.Header.Get("Location"))
	check(err)
	return place.String()
}

func end(address, token string) {
	request, err := http.NewRequest("DELETE", address, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	if answer.StatusCode != http.StatusOK {
		check(fmt.Errorf("the session is not ended: %s", answer.Status))
	}
}

// frames reads an IVF file to its end.
func frames(path string) [][]byte {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	reader, _, err := ivfreader.NewWith(file)
	check(err)
	var all [][]byte
	for {
		frame, _, err := reader.ParseNextFrame()
		if err != nil {
			return all
		}
		all = append(all, frame)
	}
}

func sound(track *webrtc.TrackLocalStaticSample, path string) {
	for {
		file, err := os.Open(path)
		check(err)
		reader, _, err := oggreader.NewWith(file)
		check(err)
		for range time.Tick(20 * time.Millisecond) {
			page, _, err := reader.ParseNextPage()
			if err != nil {
				break
			}
			check(track.WriteSample(media.Sample{Data: page, Duration: 20 * time.Millisecond}))
		}
		check(file.Close())
	}
}

// layer is an encoding of a picture; its packets name it and their section in their headers, which Pion leaves to its users.
type layer struct {
	track      *webrtc.TrackLocalStaticRTP
	packetizer rtp.Packetizer
	frames     [][]byte
}

func publish(pc *webrtc.PeerConnection, address, token, tone string, files []string) {
	microphone, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "sound", "pion")
	check(err)
	sending := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}
	_, err = pc.AddTransceiverFromTrack(microphone, sending)
	check(err)
	var layers []layer
	var picture *webrtc.RTPTransceiver
	for place, path := range files {
		track, err := webrtc.NewTrackLocalStaticRTP(
			webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "picture", "pion", webrtc.WithRTPStreamID(strconv.Itoa(place)))
		check(err)
		packetizer := rtp.NewPacketizer(1100, 0, 0, &codecs.VP8Payloader{EnablePictureID: true}, rtp.NewRandomSequencer(), 90000)
		layers = append(layers, layer{track, packetizer, frames(path)})
		if picture == nil {
			picture, err = pc.AddTransceiverFromTrack(track, sending)
		} else {
			err = picture.Sender().AddEncoding(track)
		}
		check(err)
	}
	known := exchange(pc, address, token)
	await(picture.Sender().Transport())
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM)
	go sound(microphone, tone)
	var mid, rid uint8
	for _, extension := range picture.Sender().GetParameters().HeaderExtensions {
		switch extension.URI {
		case sdp.SDESMidURI:
			mid = uint8(extension.ID)
		case sdp.SDESRTPStreamIDURI:
			rid = uint8(extension.ID)
		}
	}
	ticker := time.NewTicker(pace)
	for number := 0; ; number++ {
		select {
		case <-over:
			end(known, token)
			return
		case <-ticker.C:
		}
		for place, layer := range layers {
			for _, packet := range layer.packetizer.Packetize(layer.frames[number%len(layer.frames)], 3000) {
				check(packet.SetExtension(mid, []byte(picture.Mid())))
				check(packet.SetExtension(rid, []byte(strconv.Itoa(place))))
				check(layer.track.WriteRTP(packet))
			}
		}
	}
}

// look says what comes: each key frame, and how many pictures are whole.
func look(track *webrtc.TrackRemote, began time.Time) {
	whole, broken, goes := 0, 0, false
	var next uint16
	var first []byte
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			fmt.Printf("pictures %d broken %d\n", whole, broken)
			return
		}
		if goes && packet.SequenceNumber != next {
			goes, first = false, nil
			broken++
		}
		next = packet.SequenceNumber + 1
		if len(packet.Payload) == 0 {
			continue
		}
		var vp8 codecs.VP8Packet
		data, err := vp8.Unmarshal(packet.Payload)
		check(err)
		if vp8.S == 1 && vp8.PID == 0 {
			goes, first = true, data
		}
		if !packet.Marker || !goes {
			continue
		}
		whole++
		// RFC 6386 §9.1: the frame tag, a start code, and 14 bits of width.
		if len(first) > 8 && first[0]&1 == 0 {
			fmt.Printf("key %.2f %d\n", time.Since(began).Seconds(), (int(first[7])<<8|int(first[6]))&0x3fff)
		}
	}
}

func watch(pc *webrtc.PeerConnection, address, token, seconds string) {
	receiving := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeAudio, webrtc.RTPCodecTypeVideo} {
		_, err := pc.AddTransceiverFromKind(kind, receiving)
		check(err)
	}
	began := time.Now()
	done := make(chan struct{}, 1)
	pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		if track.Kind() == webrtc.RTPCodecTypeVideo {
			look(track, began)
			done <- struct{}{}
			return
		}
		for {
			if _, _, err := track.ReadRTP(); err != nil {
				return
			}
		}
	})
	known := exchange(pc, address, token)
	fmt.Println("answered")
	wait, err := strconv.ParseFloat(seconds, 64)
	check(err)
	time.Sleep(time.Duration(wait * float64(time.Second)))
	end(known, token)
	check(pc.Close())
	select {
	case <-done:
	case <-time.After(2 * time.Second):
	}
}

// connection is one whose packets may name their encodings.
func connection() *webrtc.PeerConnection {
	engine, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	check(engine.RegisterDefaultCodecs())
	for _, uri := range []string{sdp.SDESMidURI, sdp.SDESRTPStreamIDURI} {
		check(engine.RegisterHeaderExtension(webrtc.RTPHeaderExtensionCapability{URI: uri}, webrtc.RTPCodecTypeVideo))
	}
	check(webrtc.RegisterDefaultInterceptors(engine, registry))
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(engine), webrtc.WithInterceptorRegistry(registry)).NewPeerConnection(webrtc.Configuration{})
	check(err)
	return pc
}

func main() {
	pc := connection()
	if os.Args[1] == "publish" {
		publish(pc, os.Args[2], os.Args[3], os.Args[4], os.Args[5:])
		check(pc.Close())
	} else {
		watch(pc, os.Args[2], os.Args[3], os.Args[4])
	}
}
