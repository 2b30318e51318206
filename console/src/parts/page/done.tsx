import { Icon } from '../marks/icon.tsx'
import parts from './parts.module.css'

/** Confirms an action beside its button; undefined: nothing to confirm yet. */
export function Done({ text }: { readonly text: string | undefined }) {
  return (
    <span role="status" className={parts.done}>
      {text !== undefined && (
        <>
          <Icon name="done" size={14} />
          {text}
        </>
      )}
    </span>
  )
}
