import { type Ref, useLayoutEffect } from 'react'

interface StandInProps {
  /** An element that is already on the page. */
  readonly target: Element
  readonly ref?: Ref<Element>
  readonly 'aria-describedby'?: string
}

/** Renders nothing: the library expects its target as a child, and this gives it an existing element. */
export function StandIn({ target, ref, 'aria-describedby': description }: StandInProps) {
  useLayoutEffect(() => {
    if (typeof ref !== 'function') return undefined
    const leave = ref(target)
    return () => {
      if (typeof leave === 'function') leave()
      else ref(null)
    }
  }, [ref, target])
  useLayoutEffect(() => {
    if (description === undefined) return undefined
    target.setAttribute('aria-describedby', description)
    return () => target.removeAttribute('aria-describedby')
  }, [description, target])
  return null
}
