import type { Config } from '../../config/environment.ts'
import { finding, type RunningFinding } from '../../core/running-finding.ts'
import { openBlobs } from '../../storage/open-blobs.ts'
import { PING_PATIENCE_MS } from '../../storage/stores/blobs.ts'
import { wordsOf } from './broken-check.ts'

/** Writes, reads and removes a small file. */
export async function checkBlobs({ blob }: Pick<Config, 'blob'>, now: () => number): Promise<RunningFinding> {
  try {
    const store = await openBlobs(blob, now)
    try {
      await store.ping(AbortSignal.timeout(PING_PATIENCE_MS))
    } finally {
      await store.close()
    }
    return blob.kind === 'disk'
      ? finding('files-on-disk-good', { directory: blob.directory })
      : finding('files-in-store-good', {})
  } catch (error) {
    const words = wordsOf(error)
    return blob.kind === 'disk'
      ? finding('files-on-disk-bad', { directory: blob.directory, words })
      : finding('files-in-store-bad', { words })
  }
}
