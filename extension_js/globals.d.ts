declare global {
    var SillyTavern: { getContext(): any };
}
export {};
