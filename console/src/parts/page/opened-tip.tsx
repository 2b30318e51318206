import { Tooltip, type TooltipProps } from '@mantine/core'
import { useState } from 'react'
import { StandIn } from './stand-in.tsx'

export type TipLook = Pick<TooltipProps, 'label' | 'position' | 'disabled' | 'multiline' | 'maw'>

/** Shown at once if the pointer is still there, and later whenever it rests there. */
export function OpenedTip({ target, ...look }: TipLook & { readonly target: Element }) {
  const [isHovered] = useState(() => target.matches(':hover'))
  return (
    <Tooltip defaultOpened={isHovered} {...look}>
      <StandIn target={target} />
    </Tooltip>
  )
}
