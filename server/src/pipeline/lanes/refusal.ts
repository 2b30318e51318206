import type { PassedDialect } from '../../providers/provider.ts'
import type { ReadForm } from './threads/work.ts'

/**
 * Why this vendor cannot take the request; undefined: it can. `fields`: the body, or the text fields of a form. `path`: what
 * the client called; absent: the files of a form are not known yet.
 */
export function refusalOf(
  { fields, files, soundSeconds }: ReadForm,
  { rewrite }: Pick<PassedDialect, 'rewrite'>,
  { model, path }: { readonly model: string; readonly path?: string },
): string | undefined {
  const told = files.map(({ name, start, end }) => ({ name, size: end - start }))
  return rewrite?.refuses?.({ ...fields, model }, { files: told, soundSeconds }, path)
}
