import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

/** A link of the router for the library's components: `<Button component={LinkButton} to="…">`. */
export const LinkButton = createLink((props: ComponentProps<'a'>) => <a {...props} />)
