/** Why a database could not be copied or moved, with what to do about it. */
import { ArchiveDamaged, InUse, NotEmpty, NothingThere, SchemaMismatch } from '../../../storage/transfer.ts'
import { plural } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { codeOf } from '../../../core/errors/error-code.ts'

export function transferFailure(error: unknown): unknown {
  const told = (ending: 'failed' | 'missing' | 'mistakes', message: string) =>
    new CommandFailure(ending, message, { cause: error })
  if (error instanceof ArchiveDamaged) return told('failed', `${error.message}; nothing was changed`)
  if (error instanceof NotEmpty)
    return told(
      'mistakes',
      'the database is not empty: name an empty one, or add --replace, which removes what is there',
    )
  if (error instanceof InUse) {
    const processes = plural(error.instances, 'process', 'processes')
    return told(
      'failed',
      `a gateway serves from the database (${processes}): stop every gateway on it, then try again`,
    )
  }
  if (error instanceof NothingThere)
    return told('missing', 'the database is new and empty: there is nothing to copy')
  if (error instanceof SchemaMismatch) return told('mistakes', mismatchText(error))
  return isDamagedGzip(error)
    ? told('failed', 'the backup is cut off or damaged; nothing was changed')
    : error
}

function mismatchText({ archive, database }: SchemaMismatch): string {
  return archive > database
    ? `the backup has schema ${archive}, this build of Sluice knows up to ${database}: use the build that made it, or a newer one`
    : `the backup has schema ${archive}, the database ${database} already: name a database without tables (another SLUICE_DATA_DIR, or a new one on the server); it is brought to the newest schema afterwards`
}

function isDamagedGzip(error: unknown): boolean {
  return codeOf(error)?.startsWith('Z_') === true
}
