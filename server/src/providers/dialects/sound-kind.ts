/** The kind of sound in a file, by its first bytes: the client's file name is not trusted. */
export interface SoundKind {
  /** Media type. */
  readonly type: string
  /** The usual file extension. */
  readonly format: string
}

const WAV: SoundKind = { type: 'audio/wav', format: 'wav' }
const MP3: SoundKind = { type: 'audio/mpeg', format: 'mp3' }
const AAC: SoundKind = { type: 'audio/aac', format: 'aac' }

const BEGINNINGS: readonly (readonly [RegExp, SoundKind])[] = [
  [/^(?:RIFF|RF64)/, WAV],
  [/^ID3/, MP3],
  [/^fLaC/, { type: 'audio/flac', format: 'flac' }],
  [/^OggS/, { type: 'audio/ogg', format: 'ogg' }],
  [/^#!AMR/, { type: 'audio/amr', format: 'amr' }],
  // Matroska and WebM: preceded by a control character.
  [/^.E\u00df\u00a3/s, { type: 'audio/webm', format: 'webm' }],
  [/^.{4}(?:ftyp|moov|mdat|wide|free|skip|pnot)/s, { type: 'audio/mp4', format: 'm4a' }],
  // An MPEG frame begins with eleven set bits; in AAC the layer bits are 0.
  [/^\u00ff[\u00f0\u00f1\u00f8\u00f9]/, AAC],
  [/^\u00ff[\u00e0-\u00ff]/, MP3],
]

/** undefined: unknown. */
export function soundKindOf(bytes: Uint8Array): SoundKind | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, 12))
  return BEGINNINGS.find(([pattern]) => pattern.test(beginning))?.[1]
}
