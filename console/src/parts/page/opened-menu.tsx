import { Menu, type MenuProps } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { Opened } from './menu-button.tsx'
import { StandIn } from './stand-in.tsx'

interface OpenedMenuProps extends Opened, Pick<MenuProps, 'position' | 'width'> {
  readonly children: ReactNode
}

/** The items of a `MenuButton`. */
export function OpenedMenu({ target, opened, children, ...menu }: OpenedMenuProps) {
  // Opened after mounting, so that the library restores the focus when it closes.
  const [isThere, setThere] = useState(false)
  useEffect(() => setThere(true), [])
  return (
    <Menu opened={opened && isThere} {...menu}>
      <Menu.Target>
        <StandIn target={target} />
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
