import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instanceId } from '../../core/ids.ts'
import { openStorage } from '../open.ts'
import { describeStorage } from '../storage.conformance.ts'

describeStorage('SQLite', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-storage-'))
  return {
    open: () =>
      openStorage({
        databaseUrl: undefined,
        dataDir,
        secretKey: new Uint8Array(32).fill(7),
        instanceId: instanceId('i'),
        now: () => 1_000_000,
        log: { warn: (fields, message) => console.warn(message, fields) },
      }),
  }
})
