/** For vendors that transcribe but do not translate. */
export const TRANSCRIPTIONS = '/v1/audio/transcriptions'

/** The path below the base address for transcription, or for translation to English. */
export function audioPath(called: string | undefined): string {
  return called === '/v1/audio/translations' ? '/audio/translations' : '/audio/transcriptions'
}
