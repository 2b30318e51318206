/** Images that a client sends to be edited: files of a form, or addresses in a document, in any of the usual fields. */
import { encodeBase64Bytes } from '../../core/canonical/media/base64.ts'
import { dataUrl, sourceOfUrl } from '../../core/canonical/media/data-url.ts'
import { typeOfMedia } from '../../core/canonical/media/media-type.ts'
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { FilesTold, SentFile, SentFiles } from '../provider.ts'
import { EDITS } from './images-dialect.ts'

export type GivenPicture =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }

export interface GivenPictures {
  /** In the client's order. */
  readonly pictures: readonly GivenPicture[]
  /** Marks where the first image is to be edited. */
  readonly mask: GivenPicture | undefined
  /** All other members of the request. */
  readonly rest: JsonObject
}

/** A form has its fields in `body` and its files in `sent`. */
export function givenPictures(
  { image, images, image_url: address, mask, ...rest }: JsonObject,
  sent?: SentFiles,
): GivenPictures {
  const files = sent?.files ?? []
  const named = (name: string) => files.filter((file) => file.name === name).map(pictureOfFile)
  const said = [image, images, address].flatMap((value) => picturesOf(value))
  return {
    pictures: [...named('image'), ...said],
    mask: named('mask')[0] ?? picturesOf(mask)[0],
    rest,
  }
}

/** Why an image cannot be read, as a message for the client; undefined: all can. */
export function unknownPicture({ image, images, image_url: address, mask }: JsonObject): string | undefined {
  const places = Object.entries({ image, images, image_url: address, mask })
  const [unknown] = places.find(([, value]) => isUnknown(value)) ?? []
  return unknown === undefined
    ? undefined
    : `${unknown}: name a picture by its address or send its bytes: this vendor knows no ids of files`
}

/**
 * Why a vendor cannot be given these pictures, in words for the client; undefined: it can. `most`: how many it takes. A mask
 * that a vendor does not take would change what the picture becomes, and a vendor that makes new and changed pictures at one
 * address would make a new one where the picture to change is missing. `own`: the vendor's own members that name pictures.
 */
export function refusedPictures(
  body: JsonObject,
  told: FilesTold,
  {
    most,
    calledPath,
    own = [],
  }: {
    readonly most: number
    readonly calledPath: string | undefined
    readonly own?: readonly string[]
  },
): string | undefined {
  if ((body['mask'] ?? null) !== null || told.files.some(({ name }) => name === 'mask'))
    return 'mask: this vendor’s model takes none'
  const count = countPictures(body, told)
  if (most === 0 && (count > 0 || calledPath === EDITS))
    return 'image: this vendor’s model makes new pictures only'
  if (count > most) return `image: this vendor’s model takes up to ${most}`
  const unknown = unknownPicture(body)
  if (unknown !== undefined || calledPath !== EDITS || count > 0) return unknown
  return own.some((name) => (body[name] ?? null) !== null)
    ? undefined
    : 'image: the picture to change is missing'
}

/** The number of images, before any of their files is read. */
export function countPictures(body: JsonObject, { files }: FilesTold): number {
  const { pictures } = givenPictures(body)
  return pictures.length + files.filter(({ name }) => name === 'image').length
}

/** A public address, or a `data:` address of the bytes. */
export function addressOfPicture(picture: GivenPicture): string {
  return picture.kind === 'url' ? picture.url : dataUrl(picture.mediaType, picture.data)
}

/** A public address, or bare base64. */
export function addressOrData(picture: GivenPicture): string {
  return picture.kind === 'url' ? picture.url : picture.data
}

function pictureOfFile(file: SentFile): GivenPicture {
  const bytes = file.bytes()
  const mediaType = typeOfMedia(bytes, 'image/png', 'image') ?? 'image/png'
  return { kind: 'base64', mediaType, data: encodeBase64Bytes(bytes) }
}

/** Addresses: single, in lists, or in objects that contain one. */
function picturesOf(value: JsonValue | undefined): readonly GivenPicture[] {
  if (isJsonArray(value)) return value.flatMap(picturesOf)
  if (isJsonObject(value)) return picturesOf(value['image_url'] ?? value['url'] ?? value['image'])
  if (typeof value !== 'string' || value === '') return []
  const source = sourceOfUrl(value)
  return source.kind === 'base64' ? [source] : [{ kind: 'url', url: value }]
}

function isUnknown(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return false
  if (isJsonArray(value)) return value.some(isUnknown)
  return picturesOf(value).length === 0
}
