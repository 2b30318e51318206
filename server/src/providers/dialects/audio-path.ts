/** Below the base address, where sound is written down: in its own language, or in English. */
export function audioPath(called: string | undefined): string {
  return called === '/v1/audio/translations' ? '/audio/translations' : '/audio/transcriptions'
}
