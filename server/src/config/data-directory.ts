import { createHash, randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { chmod, link, lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Config, ConfigError } from './environment.ts'
import { codeOf, isMissing } from '../core/errors/error-code.ts'

/** The directory of this instance's files, and the key that encrypts stored secrets. */
export interface DataDirectory {
  readonly directory: string
  /** 32 bytes. */
  readonly secretKey: Uint8Array
  /** True if this start created the key. */
  readonly madeKey: boolean
  /** A message for each path that other users could read until now. */
  readonly tightened: readonly string[]
}

export const SECRET_KEY_FILE = 'secret.key'
const SECRET_KEY_BYTES = 32

/**
 * Creates the data directory (0700) and its secret key (0600) if they are missing, and removes other users' permissions
 * from existing ones. Two processes that start at once end up with the same key: each writes a complete candidate, and
 * the first to link it wins. Throws `ConfigError` if a path is readable by others and belongs to another user.
 */
export async function openDataDirectory(
  config: Pick<Config, 'dataDirectory' | 'secretKey'>,
): Promise<DataDirectory> {
  const directory = config.dataDirectory
  await makeDirectory(directory)
  const tightened = await tighten(directory)
  if (config.secretKey !== undefined) {
    return { directory, secretKey: secretKeyBytes(config.secretKey.unwrap()), madeKey: false, tightened }
  }
  const file = join(directory, SECRET_KEY_FILE)
  const kept = await readKeyFile(file)
  if (kept !== undefined) return { directory, secretKey: kept, madeKey: false, tightened }
  const madeKey = await placeNewKey(directory, file)
  const secretKey = await readKeyFile(file)
  if (secretKey === undefined) throw new Error(`${file} vanished while it was being made`)
  return { directory, secretKey, madeKey, tightened }
}

/** Removes a new key that turned out not to be the needed one. */
export async function removeSecretKey({ directory }: Pick<DataDirectory, 'directory'>): Promise<void> {
  await rm(join(directory, SECRET_KEY_FILE), { force: true })
}

/**
 * 32 bytes given as hex or base64 are used unchanged; any other text is hashed to 32 bytes, so that every instance
 * given the same text has the same key.
 */
export function secretKeyBytes(text: string): Uint8Array {
  if (/^[0-9a-f]{64}$/i.test(text)) return Uint8Array.from(Buffer.from(text, 'hex'))
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Uint8Array.from(Buffer.from(text, 'base64'))
  return Uint8Array.from(createHash('sha256').update(text, 'utf8').digest())
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    // Some file systems report for every new directory that its parent is missing, so Node would create parents for
    // ever.
    if (existsSync(dirname(directory))) await makeOne(directory)
    // mkdir applies the mode to every directory it creates, but the umask may have removed the owner's permissions.
    else if ((await mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined)
      await chmod(directory, 0o700)
  } catch (error) {
    throw new ConfigError([
      `SLUICE_DATA_DIR must be a directory this user may write: ${directory} (${codeOf(error) ?? String(error)})`,
    ])
  }
}

async function makeOne(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
    await chmod(directory, 0o700)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await stat(directory)).isDirectory()) throw error
  }
}

/**
 * The gateway's own files in the data directory: the database and SQLite's files next to it, the key, files of calls.
 */
const OWN_NAMES = /^(?:sluice\.db.*|\.?secret\.key.*|blobs|unsettled)$/
const OTHERS = 0o077
const STICKY = 0o1000

/**
 * Only the owner may read these files, regardless of the creator of the directory and the umask. Other files are not
 * changed, because the directory may be used for other things too.
 */
async function tighten(directory: string): Promise<readonly string[]> {
  // Windows has no such modes.
  if (process.getuid === undefined) return []
  const names = (await readdir(directory)).filter((name) => OWN_NAMES.test(name)).sort()
  const sentences: string[] = []
  for (const path of [directory, ...names.map((name) => join(directory, name))]) {
    const sentence = await tightenPath(path, process.getuid())
    if (sentence !== undefined) sentences.push(sentence)
  }
  return sentences
}

async function tightenPath(path: string, user: number): Promise<string | undefined> {
  const found = await findPath(path)
  // A link's permissions are those of its target, which may be anywhere.
  if (found === undefined || found.isSymbolicLink() || (found.mode & OTHERS) === 0) return undefined
  const open = `${path} is open to other users (${(found.mode & 0o777).toString(8).padStart(4, '0')})`
  if (user !== 0 && found.uid !== user)
    throw new ConfigError([
      `${open} and belongs to another one: chown it to the user that runs Sluice, or name a directory below it in SLUICE_DATA_DIR, which Sluice then makes itself`,
    ])
  if ((found.mode & STICKY) !== 0)
    throw new ConfigError([
      `${open} and shared by many (sticky): name a directory below it in SLUICE_DATA_DIR`,
    ])
  const mode = found.isDirectory() ? 0o700 : 0o600
  await chmod(path, mode)
  return `${open}: its mode is ${mode.toString(8).padStart(4, '0')} now`
}

/** undefined: it was removed meanwhile, as SQLite's extra files are when the last process closes the database. */
async function findPath(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** undefined: there is none. Throws `ConfigError` if it cannot be read or does not contain a key. */
export async function readKeyFile(file: string): Promise<Uint8Array | undefined> {
  let bytes: Buffer | undefined
  try {
    bytes = await readPlainFile(file)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new ConfigError([
      `${file} cannot be read (${codeOf(error) ?? String(error)}): it must belong to the user that runs Sluice`,
    ])
  }
  const key = bytes === undefined ? undefined : secretKeyOfFile(bytes)
  if (key === undefined) {
    throw new ConfigError([
      `${file} does not hold a key of 32 bytes: restore it from a backup, or set SLUICE_SECRET_KEY. Removing it makes a new one, which cannot decrypt the provider credentials already stored.`,
    ])
  }
  return key
}

/** undefined: not a file but a directory, or a pipe, reading which could block for ever. */
async function readPlainFile(file: string): Promise<Buffer | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return (await handle.stat()).isFile() ? await handle.readFile() : undefined
  } finally {
    await handle.close()
  }
}

/** Hex text, as the gateway writes it; 32 raw bytes are accepted too. */
function secretKeyOfFile(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length === SECRET_KEY_BYTES) return Uint8Array.from(bytes)
  const text = new TextDecoder().decode(bytes).trim()
  return /^[0-9a-f]{64}$/i.test(text) ? secretKeyBytes(text) : undefined
}

/** False: another process was first. A link is created atomically, and never replaces an existing file. */
async function placeNewKey(directory: string, file: string): Promise<boolean> {
  const candidate = join(directory, `.${SECRET_KEY_FILE}.${process.pid}.${randomBytes(6).toString('hex')}`)
  const handle = await open(candidate, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(SECRET_KEY_BYTES).toString('hex')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await link(candidate, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(candidate, { force: true })
  }
}
