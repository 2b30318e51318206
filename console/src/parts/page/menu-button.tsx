import {
  cloneElement,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  Suspense,
  useId,
  useState,
} from 'react'

export interface Opened {
  /** The id of the button, which labels the menu. */
  readonly id: string
  readonly target: Element
  readonly opened: boolean
  readonly onChange: (opened: boolean) => void
}

/** A button without an `onClick` of its own. */
export type MenuTrigger = ReactElement<HTMLAttributes<HTMLElement>>

interface MenuButtonProps {
  readonly button: MenuTrigger
  /** The menu, in an `OpenedMenu`; its file is loaded when it is first opened. */
  readonly children: (opened: Opened) => ReactNode
}

/** A button that opens a menu; the menu's chunk is loaded later, the button stays the same element. */
export function MenuButton({ button, children }: MenuButtonProps) {
  const id = useId()
  const [target, setTarget] = useState<Element>()
  const [opened, onChange] = useState(false)
  return (
    <>
      {cloneElement(button, {
        id,
        'aria-haspopup': 'menu',
        'aria-expanded': opened,
        'aria-controls': opened ? `${id}-dropdown` : undefined,
        onClick: ({ currentTarget }) => {
          setTarget(currentTarget)
          onChange(!opened)
        },
      })}
      {target !== undefined && <Suspense>{children({ id, target, opened, onChange })}</Suspense>}
    </>
  )
}
