declare module "*.eta" {
  const text: string;
  export default text;
}
