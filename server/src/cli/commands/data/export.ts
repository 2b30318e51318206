import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { exportGatewayFile } from '../../../management/gateway-file/export-gateway-file.ts'
import type { Console } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'

export interface ExportFlags {
  readonly output?: string
  readonly json?: boolean
}

export async function exportFile(io: Console, flags: ExportFlags): Promise<void> {
  const format = flags.json === true ? 'json' : 'yaml'
  const text = await withStorage(io, 'refuse', (storage) =>
    exportGatewayFile(storage, { format, at: io.now() }),
  )
  if (flags.output === undefined) {
    io.out(text)
    return
  }
  const file = resolve(io.workingDirectory, flags.output)
  try {
    // It contains customers' names: readable by its owner only.
    await writeFile(file, text, { mode: 0o600 })
  } catch (error) {
    throw new CommandFailure('failed', `${file} cannot be written: ${String(error)}`, { cause: error })
  }
  io.err(`wrote ${file}\n`)
}
