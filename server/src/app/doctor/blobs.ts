import type { Config } from '../../config/environment.ts'
import { failed, type Finding, ok } from '../../core/finding.ts'
import { openBlobs } from '../../storage/open-blobs.ts'
import { PING_PATIENCE_MS } from '../../storage/stores/blobs.ts'
import { wordsOf } from './broken-check.ts'

/** Writes, reads and removes a small file. */
export async function checkBlobs({ blob }: Pick<Config, 'blob'>, now: () => number): Promise<Finding> {
  const place = blob.kind === 'disk' ? blob.directory : 'the object store of SLUICE_BLOB_URL'
  try {
    const store = await openBlobs(blob, now)
    try {
      await store.ping(AbortSignal.timeout(PING_PATIENCE_MS))
    } finally {
      await store.close()
    }
    return ok('stored files', `${place} can be written and read`)
  } catch (error) {
    const fix =
      blob.kind === 'disk'
        ? 'let this user write there'
        : 'check SLUICE_BLOB_URL and its credentials: putting, reading and deleting must be allowed'
    return failed('stored files', `${place}: ${wordsOf(error)}`, `${fix}; only stored videos need it`)
  }
}
