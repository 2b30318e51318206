import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

/** A link of the router that the library's components can be made of: `<Button component={LinkButton} to="…">`. */
export const LinkButton = createLink((props: ComponentProps<'a'>) => <a {...props} />)
