import { isJsonObject } from '../../core/json.ts'
import { classifyFailure, type FailureClass, type UpstreamFailure } from '../../core/routing/failure.ts'
import { objectAt, objectsIn, textIn } from '../video-forms/json.ts'
import { WORDS } from './failure-words.ts'

/** Classifies a refused call, or an error in this folder's own form (`{error: {code}}`). */
export function classify(failure: UpstreamFailure): FailureClass {
  const { detail, error_type, error } = objectAt(failure.body)
  if (isJsonObject(error)) return classifyFailure(failure, WORDS)
  const code = textIn(objectsIn(detail)[0]?.['type']) ?? textIn(error_type) ?? textIn(detail)
  return classifyFailure(code === undefined ? failure : { ...failure, body: { error: { code } } }, WORDS)
}
