// Modules under `resources/` are in the project too, with the same globals.

export const currencies = ['EUR', 'USD'] as const;
// @ts-expect-error 2591 Node's globals are unknown here
export const home = process.env.HOME;
