/**
 * The vendor's own place for files, for two days: it signs a form for its object store, and takes `oss://` as the address of
 * what was posted there.
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { soundKindOf } from '../dialects/sound-kind.ts'
import type { FileToUpload, FormInput, UploadForm, UploadPlace } from '../provider.ts'
import { ofApi } from './address.ts'

const MEBIBYTE = 1_048_576

/** Of the signed form, by the vendor's names; the store's are others. */
const SIGNED = {
  OSSAccessKeyId: 'oss_access_key_id',
  Signature: 'signature',
  policy: 'policy',
  'x-oss-object-acl': 'x_oss_object_acl',
  'x-oss-forbid-overwrite': 'x_oss_forbid_overwrite',
}

export const askForPlace: UploadForm['ask'] = ({
  baseUrl,
  forwardModelId,
}: Pick<FormInput, 'baseUrl' | 'forwardModelId'>) => ({
  url: ofApi(baseUrl, `/api/v1/uploads?action=getPolicy&model=${encodeURIComponent(forwardModelId)}`),
  headers: {},
})

export function placeIn({ data }: JsonObject, file: FileToUpload): UploadPlace | undefined {
  if (!isJsonObject(data)) return undefined
  const { upload_host: url, upload_dir: folder, max_file_size_mb: most } = data
  if (typeof url !== 'string' || typeof folder !== 'string') return undefined
  if (typeof most === 'number' && file.size > most * MEBIBYTE)
    return { kind: 'closed', status: 400, answer: tooLarge(most) }
  const signed = signedIn(data)
  if (signed === undefined) return undefined
  const kind = soundKindOf(file.beginning)
  const fileName = kind === undefined ? file.id : `${file.id}.${kind.format}`
  const key = `${folder}/${fileName}`
  return {
    kind: 'open',
    url,
    fields: { ...signed, key, success_action_status: '200' },
    fileName,
    address: `oss://${key}`,
  }
}

/** undefined: something is missing. */
function signedIn(data: JsonObject): Readonly<Record<string, string>> | undefined {
  const fields: Record<string, string> = {}
  for (const [name, theirs] of Object.entries(SIGNED)) {
    const value = data[theirs]
    if (typeof value !== 'string') return undefined
    fields[name] = value
  }
  return fields
}

function tooLarge(mebibytes: number): JsonObject {
  return { code: 'InvalidParameter', message: `file: this model takes up to ${mebibytes} MiB` }
}
