export const taxRate = 0.2;
export const totalWithTax = (subtotal: number) => subtotal * (1 + taxRate);
