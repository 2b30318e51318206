import { useTimeout } from '@mantine/hooks'
import { cloneElement, type PointerEvent, type ReactElement, Suspense, useState } from 'react'
import { late } from './late.ts'
import type { TipLook } from './opened-tip.tsx'

const OpenedTip = late(async () => (await import('./opened-tip.tsx')).OpenedTip)

/** Ms for which the pointer rests before the tooltip is shown. */
const REST_MS = 300

interface TipProps extends TipLook {
  readonly children: ReactElement<{
    readonly onPointerEnter?: (event: PointerEvent) => void
    readonly onPointerLeave?: () => void
  }>
}

/** A tooltip; its chunk is loaded when the first one is needed. */
export function Tip({ children, ...look }: TipProps) {
  const [target, setTarget] = useState<Element>()
  const rest = useTimeout((element: Element) => setTarget(element), REST_MS)
  return (
    <>
      {cloneElement(children, {
        onPointerEnter: ({ currentTarget, pointerType }) => {
          if (pointerType === 'mouse' && look.disabled !== true) rest.start(currentTarget)
        },
        onPointerLeave: rest.clear,
      })}
      {target !== undefined && (
        <Suspense>
          <OpenedTip target={target} {...look} />
        </Suspense>
      )}
    </>
  )
}
